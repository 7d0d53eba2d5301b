-- expand
-- Modify "accounts" table
ALTER TABLE "accounts" ADD COLUMN "forward_requests" boolean NOT NULL DEFAULT false;
