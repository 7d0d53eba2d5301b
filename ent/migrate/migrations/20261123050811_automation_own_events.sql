-- Create index "automationlisten_own" to table: "automation_listens"
CREATE INDEX "automationlisten_own" ON "automation_listens" ("automation_id", "account_id") WHERE ((event)::text ~~ '$%'::text);
