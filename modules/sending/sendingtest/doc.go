// Package sendingtest provides what the tests of module sending share: a database and the runtime parts over
// it, fakes of other modules, and a scripted receiving server. It does not import the packages under test;
// package rooms does.
package sendingtest
