// Package definition is what an automation is made of: a trigger and a flat list of steps, as
// their author writes them in JSON.
//
// Words. A step has a key, by which others name it. A target says where a run goes on: at the
// next step, at a later one, or not at all. Targets only point forward, so every run ends
// after at most MaxSteps steps.
//
// Decode judges a document in two rounds. The first one holds it against the tables of fields
// (table.go, and the file of each step type): which fields an object has, and of which form
// they are. The JSON Schema is made from the same tables. The second round (judge.go) holds the
// parts against each other: keys, targets, weights. Both name every wrong field by its path. Expressions and Liquid are not
// judged here but by package machine, which compiles them.
package definition
