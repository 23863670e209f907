//! Block execution: dependency graph, policy state machine, worker shells.
