-- Owner: modules/statistics. Of recipients' domains there may be very many, so what all senders of an
-- account together sent has rows of its own: "kind" 5 of one domain, the key, also over stretches of 14
-- days; "kind" 6 of all domains together. They are made of what is there.
-- What one domain has is found by its name.
INSERT INTO "statistics" ("account_id", "grain", "placed", "kind", "start", "domain_id", "api_key_id", "template_id", "automation_id", "key",
  "accepted", "recipients", "delivered", "delayed", "bounced", "failed", "complained", "opened", "clicked", "unsubscribed", "suppressed")
SELECT s."account_id", s."grain", s."placed", k."kind", s."start", '', '', '', '', CASE k."kind" WHEN 5 THEN s."key" ELSE '' END AS "name",
  sum(s."accepted"), sum(s."recipients"), sum(s."delivered"), sum(s."delayed"), sum(s."bounced"), sum(s."failed"), sum(s."complained"), sum(s."opened"), sum(s."clicked"), sum(s."unsubscribed"), sum(s."suppressed")
FROM "statistics" s, (VALUES (5), (6)) k ("kind") WHERE s."kind" = 3
GROUP BY s."account_id", s."grain", s."placed", k."kind", s."start", "name";
INSERT INTO "statistics" ("account_id", "grain", "placed", "kind", "start", "domain_id", "api_key_id", "template_id", "automation_id", "key",
  "accepted", "recipients", "delivered", "delayed", "bounced", "failed", "complained", "opened", "clicked", "unsubscribed", "suppressed")
SELECT "account_id", 20160, "placed", "kind", date_bin('14 days', "start", timestamptz '0001-01-01 00:00:00Z') AS "begin", '', '', '', '', "key",
  sum("accepted"), sum("recipients"), sum("delivered"), sum("delayed"), sum("bounced"), sum("failed"), sum("complained"), sum("opened"), sum("clicked"), sum("unsubscribed"), sum("suppressed")
FROM "statistics" WHERE "kind" = 5 AND "grain" = 1440
GROUP BY "account_id", "placed", "kind", "begin", "key";
INSERT INTO "statistics_latencies" ("account_id", "grain", "placed", "kind", "start", "domain_id", "api_key_id", "template_id", "automation_id", "key", "bin", "recipients")
SELECT s."account_id", s."grain", s."placed", k."kind", s."start", '', '', '', '', CASE k."kind" WHEN 5 THEN s."key" ELSE '' END AS "name", s."bin", sum(s."recipients")
FROM "statistics_latencies" s, (VALUES (5), (6)) k ("kind") WHERE s."kind" = 3
GROUP BY s."account_id", s."grain", s."placed", k."kind", s."start", "name", s."bin";
CREATE INDEX "statistics_of_domain" ON "statistics" ("account_id", "grain", "placed", "key", "start") WHERE "kind" = 5;
CREATE INDEX "statistics_latencies_of_domain" ON "statistics_latencies" ("account_id", "grain", "placed", "key", "start") WHERE "kind" = 5;
