-- Programs from this migration on read URLs and bodies of gateways that are sealed among the credentials of
-- sms_settings. The first that seals one has older programs refused (DB.Require).
-- expand
SELECT 1;
