-- expand
-- Create "operator_keys" table
CREATE TABLE "operator_keys" (
  "id" character varying NOT NULL COLLATE "C",
  "name" character varying NOT NULL,
  "prefix" character varying NOT NULL,
  "hash" bytea NOT NULL,
  "allowed_ips" jsonb NULL,
  "expires_at" timestamptz NULL,
  "last_used_at" timestamptz NULL,
  "last_used_ip" character varying NULL,
  "revoked_at" timestamptz NULL,
  "created_by" character varying NULL COLLATE "C",
  "created_at" timestamptz NOT NULL DEFAULT CURRENT_TIMESTAMP,
  PRIMARY KEY ("id")
);
-- Create index "operatorkey_hash" to table: "operator_keys"
CREATE UNIQUE INDEX "operatorkey_hash" ON "operator_keys" ("hash");
