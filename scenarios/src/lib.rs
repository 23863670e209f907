//! Scenarios, campaign, command line.
