// Package definition validates the JSON form of automations: a trigger and a flat list of steps.
//
// A step has a key, by which others refer to it. A target is where a run continues: at the next step, at
// a later one, or nowhere. Targets only point forward, so every run ends after at most MaxSteps steps.
//
// Decode validates a document in two passes. The first checks it against the tables of fields (table.go,
// and the file of each step type): which fields an object has, and their form. The JSON Schema is
// generated from the same tables. The second pass (judge.go) checks the parts against each other: keys,
// targets, weights. Both report every error by its path. Expressions and Liquid are checked by package
// machine, which compiles them.
package definition
