// Package journeys has the tests that run the whole service from outside: the
// journeys of ARCHITECTURE, what can go wrong between two mail servers
// (scenario_*_test.go), and what holds over several modules, such as tenancy.
// A test of one module alone stands beside that module.
package journeys
