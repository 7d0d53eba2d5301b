// Package deliverability shows a sender what receivers think of a domain's mail.
//
// Receivers send aggregate reports (DMARC, RFC 7489) to an address that belongs to one domain
// (runtime/mail/reportaddress), and so do senders about TLS in their sessions with the domain (RFC 8460). The service
// stores the counts of both by day, receiver and result, those of DMARC reports also by source. It derives from
// them, from DNS and from the statistics which mail passes, which servers send in the domain's name, whether a stricter
// policy is safe, and which requirements of mailbox providers the domain meets.
//
// Guarantees:
//
//   - A report counts once, whatever the number of times it arrives: one (receiver, organization, report id) of a
//     domain has one effect. 250 follows the commit.
//
//   - A report counts only if its message passes DMARC. The receiver is the domain that the message authenticates;
//     the organization in the report is a text that its author chose.
//
//   - A report about a domain other than that of its address is refused.
//
//   - A refused message changes nothing but a counter of its reason.
//
//   - No report changes a domain, a key, a setting or a suppression. Advice is computed when it is read, and only the
//     account publishes DNS records.
//
//   - Rows are bounded by domain, in number and age.
//
//   - A provider that starts to refuse or defer the mail of a domain causes one event, and another one only after it
//     has recovered. Only outcomes of the domain's own mail count.
//
//   - A blocklist gets few lookups, and none for a day after it refused one.
//
// Reverse names and blocklists are looked up in the background and cached. The checks of providers and blocklists have
// turns (turn.go), so that one of several processes does each part. Facts published: domain.deliverability_degraded.
// Facts consumed: none.
package deliverability
