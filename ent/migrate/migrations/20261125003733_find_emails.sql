-- Create index "email_automation" to table: "emails"
CREATE INDEX "email_automation" ON "emails" ("account_id", "automation_id", "id") WHERE (automation_id IS NOT NULL);
-- Create index "email_template" to table: "emails"
CREATE INDEX "email_template" ON "emails" ("account_id", "template_id", "id") WHERE (template_id IS NOT NULL);
