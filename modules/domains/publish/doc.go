// Package publish publishes the records of domains at their DNS providers, through package dnsprovider.
//
// Existing records are never overwritten. A conflicting record is reported with advice. The one exception is
// an SPF record, to which our include is added if receivers would still accept it. Publishing is idempotent.
// The credentials of a provider are not stored.
package publish
