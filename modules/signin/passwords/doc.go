// Package passwords judges passwords of people, hashes them and checks them.
//
// The hash is argon2id (RFC 9106) with 19 MiB, two passes and one lane, in the PHC string format.
// Hashing is bounded: half as many hashes run at a time as there are cores, one at least and four at
// most, and sixteen wait; others are told to come back. So guessing costs everybody else little.
package passwords
