// Package passwords judges passwords of people, hashes them and checks them.
//
// The hash is argon2id (RFC 9106) with 19 MiB, two passes and one lane, in the PHC string format.
// Hashing is bounded: half as many hashes run at a time as there are cores, one at least and four at
// most. The others wait for five seconds at most, and are then told to come back. Browsers that are known
// go first; of the others the network is next that has had the least of late. So those who guess, from many
// networks too, cost everybody else little.
package passwords
