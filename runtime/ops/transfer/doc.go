// Package transfer writes an account to a file, and creates the account of such a file in another installation.
//
// The file is a tar archive, compressed with zstd:
//
//	manifest.json              the format, the account, and the columns of each table
//	replaced/<group>/<n>.jsonl in a difference: ids of units of the base that it replaces or deletes
//	tables/<table>/<n>.jsonl   the rows of a table as JSON objects, one per line, in parts of a few megabytes
//	objects/<key>              bodies and attachments from the object store
//	end.json                   the number of rows and the SHA-256 of each part; a file without it is incomplete
//
// The rows are a snapshot of one moment. Export copies finished work only. Queued and scheduled emails, automation runs
// in progress and pending webhook deliveries stay at the source, because two installations would both complete them.
// ExportParked includes them, parked, in the file of a move (modules/accounts/moves), from which Import creates a
// frozen copy.
//
// Import creates all rows in one transaction, so that it can be repeated after any failure. Only a base, which a move
// copies while the account works (Base), is imported in many.
//
// # Secrets
//
// Export opens secrets with the master key of the source, and seals them with a one-time key that belongs to the file
// but is not in it. Import opens them with this key and seals them with the master key of the target, so that neither
// installation knows the master key of the other. Keyed hashes are computed again from the columns in clear. Where
// these were erased, and for links and addresses in emails that were sent, the target needs the master key of the
// source.
package transfer
