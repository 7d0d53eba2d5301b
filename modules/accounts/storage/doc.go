// Package storage limits how many bytes an account stores: in total and per day (UTC). It also stops writes while
// the database's disk is nearly full (runtime/ops/diskroom).
//
// # What counts
//
// Every operation that stores data of an account charges its bytes first, plus a fixed amount for each row. A
// charge that exceeds a cap is refused with plan_limit and details.cap "stored_bytes" or "daily_bytes"; over SMTP
// the reply is 452 4.2.2. Later consequences of an accepted write (attempts, webhook deliveries, steps of runs)
// are not refused: they are included in the stored bytes at the next measurement.
//
//	table                                          charged by                          measured
//	emails, attachments, recipients, attempts,     sending, by every route: REST,      yes, with their contents in
//	facts, delivery_reports                        batch, relay, automations, replies  the object store
//	received_contents, received_emails             inbound, before its 250             yes, with the object store
//	templates, template_versions, template_edits,  the REST edge                       yes
//	template_images
//	suppressions, category_opt_outs                the REST edge; not those that       yes
//	                                               bounces and recipients cause
//	custom_events, automation_runs and their       the REST edge: the event, and a     yes, with their steps
//	steps, works and entries                       copy for each run that it starts
//	automations, automation_versions               the REST edge                       yes
//	sms_messages, sms_attempts                     not charged: capped by number       yes
//	webhook_deliveries, webhook_attempts           not charged: consequences           estimated: 1.5 kB each
//	engagements                                    not charged: 1,000 for each email   yes
//	api_requests                                   not charged: sampled, kept 7 days   yes
//	webhooks, domains, api_keys, smtp_credentials, the REST edge                       no: few and small
//	address_rule_sets, tracking_hosts, smarthosts
//	account_brands, sms_settings                   not charged: one row of 64 kB       no
//	idempotency_keys                               not charged: kept for 24 hours      no
//	audit_entries, statistics, usages and others   not charged: the installation's     no
//	of accounts, billing, outbound, bus            own records
//	users, sessions, passkeys and others of        not charged: they belong to a       no
//	signin                                         person, not to an account
//
// Exports store nothing. Accounts without a byte quota are not charged and have no counter. The hidden account of
// the installation is exempt.
//
// # How it is counted
//
// Each process borrows an allowance from the counter of an account: a share of the remaining bytes. It spends the
// allowance in memory, and borrows the next one before it is used up. Borrowed bytes count as stored, so all
// processes together never exceed a cap. Every 10 seconds a process reports the rest of each allowance. It returns
// an allowance that was not used for 30 seconds; one that its process has not renewed for 3 minutes is returned by
// another process.
//
// Deletions are not counted one by one. Instead a background task measures the bytes that an account actually
// stores, in pages of 5,000 rows, and sets the counter to the result: once a day, every 15 minutes from 80 % of
// the cap on, and within a minute after a refusal. Retention, erasure and other deletions therefore free quota
// without any accounting in the code that deletes. The measurement reads lengths, never contents.
//
// # Third parties
//
// Received mail may use at most half of an account's daily bytes, and one network (/24, or /48 of IPv6) at most an
// eighth of them through each process, so that unknown senders cannot block the account's own operations.
package storage
