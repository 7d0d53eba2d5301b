// Package journeys contains the tests that run the whole service from outside: the journeys of ARCHITECTURE,
// the problems between two mail servers (scenario_*_test.go), and properties of several modules, such as
// tenancy. Tests of a single module are next to that module.
package journeys
