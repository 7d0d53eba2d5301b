-- expand
-- no transaction
CREATE INDEX CONCURRENTLY IF NOT EXISTS "signinlink_email" ON "sign_in_links" ("email");
