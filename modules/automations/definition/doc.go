// Package definition validates the JSON form of automations: a trigger and a flat list of steps.
//
// A step has a key by which other steps refer to it. A target is where a run continues: at the next step, at
// a later one, or nowhere. Targets only point forward, so every run ends after at most MaxSteps steps.
//
// Decode validates a document in two passes. The first checks it against the tables of fields (table.go and the
// file of each step type): which fields an object may have, and their form. The JSON Schema is generated from
// the same tables. The second pass (judge.go) checks keys, targets and weights against each other. Both report
// every error by its path. Package machine checks expressions and Liquid when it compiles them.
package definition
