// Package callback takes what providers of text messages tell later: a receipt says what became of a
// message, a reply says what somebody wrote back. Providers repeat both, and in any order. What is
// not genuine changes nothing.
package callback
