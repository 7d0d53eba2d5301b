-- The keys move from the rows of their domains. They stay sealed as they are:
-- what binds them is the id of the domain, not of the row they lie in.
INSERT INTO "dkim_keys" ("id", "domain_id", "selector", "algorithm", "private_key", "public_key", "state", "created_at", "activated_at")
SELECT 'dkm_' || substr("id", 5), "id", "dkim_selector", 'rsa-sha256', "dkim_private_key", "dkim_public_key", 'active', "created_at", "created_at"
  FROM "domains";
-- What was last seen of a key names the key now.
UPDATE "domains" SET "records" = (
  SELECT jsonb_agg(CASE WHEN r->>'purpose' = 'dkim' THEN r || jsonb_build_object('selector', "dkim_selector") ELSE r END ORDER BY n)
    FROM jsonb_array_elements("records") WITH ORDINALITY AS states(r, n))
 WHERE jsonb_typeof("records") = 'array' AND "records" <> '[]';
-- Drop index "dkimkey_domain_id_state" from table: "dkim_keys"
DROP INDEX "dkimkey_domain_id_state";
-- Modify "dkim_keys" table
ALTER TABLE "dkim_keys" ADD
CONSTRAINT "dkim_keys_domains_keys" FOREIGN KEY ("domain_id") REFERENCES "domains" ("id") ON UPDATE NO ACTION ON DELETE CASCADE;
-- Create index "dkimkey_one_in_use" to table: "dkim_keys"
CREATE UNIQUE INDEX "dkimkey_one_in_use" ON "dkim_keys" ("domain_id", "algorithm", "state") WHERE state <> 'retired';
