// Package insight shows what automations would do and why they did what they did: simulations,
// backtests, differences of versions, explanations of events and timelines of runs.
package insight
