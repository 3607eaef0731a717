// SPDX-License-Identifier: MIT
/// \file
/// Collects the lease reports made while it exists.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <scratchpad/workspace/lease_report.hpp>

class LeaseReports {
 public:
  struct Entry {
    scratchpad::LeaseReportKind kind;
    std::size_t bytes;
    std::string message;
  };

  LeaseReports() : before_(scratchpad::set_lease_report_handler(&LeaseReports::add)) { entries().clear(); }
  LeaseReports(const LeaseReports&) = delete;
  LeaseReports& operator=(const LeaseReports&) = delete;
  ~LeaseReports() { scratchpad::set_lease_report_handler(before_); }

  std::size_t size() const { return entries().size(); }
  const Entry& operator[](std::size_t i) const { return entries().at(i); }

 private:
  static std::vector<Entry>& entries() {
    static std::vector<Entry> all;
    return all;
  }
  static void add(const scratchpad::LeaseReport& report) {
    entries().push_back({report.kind, report.bytes, report.message});
  }

  scratchpad::LeaseReportHandler before_;
};
