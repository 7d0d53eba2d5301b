// Package sendingtest contains what the tests of module sending share: a database with the runtime parts on
// top, fakes of other modules, and a scripted receiving server. It does not import the packages under test;
// package rooms does.
package sendingtest
