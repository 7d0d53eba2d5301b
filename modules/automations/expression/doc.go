// Package expression compiles and evaluates the conditions of automations, which are written
// in CEL.
//
// An expression is bounded: in length and depth when it is compiled, in cost and by its
// context when it is evaluated. It sees the names of Names and nothing else, and has no
// function that reaches a clock, a network or a file.
//
// A field that is missing is an error in CEL. Whoever evaluates a condition takes an error
// for false and keeps its text for the author.
package expression
