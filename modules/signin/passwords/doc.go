// Package passwords validates, hashes and checks passwords.
//
// The hash is argon2id (RFC 9106) with 19 MiB, two passes and one lane, in the PHC string format. Concurrent
// hashes are limited to half the number of cores, at least one and at most four. Other requests wait for at
// most five seconds and are then rejected with a retry time. Known browsers go first. Among the others, the
// network with the least recent use is next. This way, guessing hardly delays other users, even from many
// networks.
package passwords
