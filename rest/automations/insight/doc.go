// Package insight explains automations: simulations, backtests, differences of versions, explanations of events and
// timelines of runs.
package insight
