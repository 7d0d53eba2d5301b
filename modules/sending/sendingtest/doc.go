// Package sendingtest provides what the tests of module sending share: a database and the runtime parts over
// it, fakes of other modules, and a scripted receiving server. It imports none of the packages under test
// except through package rooms, below it.
package sendingtest
