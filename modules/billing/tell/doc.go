// Package tell mails the people of an account who pay (owners, and members with the role billing) about
// limits that come near and are reached, payments that failed, and plans that changed. Each mail goes once
// for a person, a kind and a period; that it went is noted in the transaction that stores it.
package tell
