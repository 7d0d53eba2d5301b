-- By hand: rows that are held keep their holder. A lane called them "held" or "held:account"
-- until here. The index of what is due is made anew after that, so that it has no held row.

-- Drop index "recipient_due" from table: "recipients"
DROP INDEX "recipient_due";
-- Modify "recipients" table
ALTER TABLE "recipients" ADD COLUMN "held_by" character varying NULL;
UPDATE "recipients" SET "held_by" = CASE "lane" WHEN 'held' THEN 'operator' ELSE 'account' END, "lane" = NULL
WHERE "lane" IN ('held', 'held:account');
-- Create index "recipient_due" to table: "recipients"
CREATE INDEX "recipient_due" ON "recipients" ("due_at") WHERE ((due_at IS NOT NULL) AND (lane IS NULL) AND (held_by IS NULL));
-- Create index "recipient_held" to table: "recipients"
CREATE INDEX "recipient_held" ON "recipients" ("account_id") WHERE ((due_at IS NOT NULL) AND (held_by IS NOT NULL));
