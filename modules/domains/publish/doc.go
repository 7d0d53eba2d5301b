// Package publish puts the records of domains where their zones are kept: at the DNS
// providers whose interfaces package dnsprovider speaks.
//
// What is in a zone is never overwritten. Where something is in the way, it is a conflict
// that says what to do; the one exception is an SPF record, which gets our include when
// receivers would still accept it. Doing it twice changes nothing the second time. The
// credentials of a provider are not kept.
package publish
