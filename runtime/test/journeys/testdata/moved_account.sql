-- Rows of the account of dev.test that take days or another server to appear.

-- Domains of development are not looked up. This one is like any other, so that the target finds the same.
UPDATE domains SET seeded = false WHERE name = 'dev.test';

INSERT INTO dmarc_refusals (domain_id, day, reason, messages) SELECT id, '2026-11-20', 'not_xml', 2 FROM domains WHERE name = 'dev.test';

INSERT INTO dmarc_reports (domain_id, digest, organization, receiver, report_id, policy, begins_at, ends_at, messages)
SELECT id, '\x01', 'Google', 'google.com', 'r1', 'none', now() - interval '2 days', now() - interval '1 day', 5
FROM domains WHERE name = 'dev.test';

INSERT INTO tls_counts (domain_id, day, receiver, policy, result, sessions)
SELECT id, to_char(now() AT TIME ZONE 'UTC' - interval '1 day', 'YYYY-MM-DD'), 'google.com', 'sts', r, 3
FROM domains, unnest('{successful,failed}'::text[]) r WHERE name = 'dev.test';

INSERT INTO tls_reports (domain_id, digest, organization, receiver, report_id, begins_at, ends_at)
SELECT id, '\x01', 'Google', 'google.com', 'r1', now() - interval '2 days', now() - interval '1 day'
FROM domains WHERE name = 'dev.test';

INSERT INTO degraded_providers (domain_id, provider, problem, data)
SELECT id, 'gmail', 'refused', '{}' FROM domains WHERE name = 'dev.test';

INSERT INTO former_members (account_id, user_id, role)
SELECT account_id, 'usr_01kf0m4w7he6x8q2v5b3n9c1ta', 'viewer' FROM domains WHERE name = 'dev.test';

INSERT INTO smarthosts (id, account_id, host, port, "use")
SELECT 'smh_01kf0m4w7he6x8q2v5b3n9c1ta', account_id, 'relay.example', 587, 'never' FROM domains WHERE name = 'dev.test';

INSERT INTO sms_opt_outs (account_id, number_hash, number, reason)
SELECT account_id, '\x01', '+4915112345679', 'stop' FROM domains WHERE name = 'dev.test';

INSERT INTO delivery_reports (account_id, recipient_id, email_id, kind, digest)
SELECT account_id, id, email_id, 'bounce', '\x01' FROM recipients WHERE address = 'gone@example.net';

INSERT INTO storage_counters (account_id, stored)
SELECT account_id, 1000 FROM domains WHERE name = 'dev.test' ON CONFLICT DO NOTHING;

INSERT INTO usages (account_id, period, emails) SELECT account_id, '2026-10', 20 FROM domains WHERE name = 'dev.test';

INSERT INTO usage_hours (account_id, hour, emails)
SELECT account_id, date_trunc('hour', now() - interval '1 day'), 20 FROM domains WHERE name = 'dev.test';

INSERT INTO statistics_days
SELECT (jsonb_populate_record(s, jsonb_build_object('start', s.start - n * interval '1 day'))).*
FROM generate_series(1, 3) n, statistics_days s JOIN domains d ON s.account_id = d.account_id AND d.name = 'dev.test';
