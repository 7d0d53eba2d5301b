-- expand
-- no transaction
-- Create index "capturedmail_account_id_id" to table: "captured_mails"
CREATE INDEX CONCURRENTLY IF NOT EXISTS "capturedmail_account_id_id" ON "captured_mails" ("account_id", "id");
