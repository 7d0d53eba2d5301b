-- expand
-- Programs that have this file make the id of a webhook delivery of its event and its endpoint. They alone can work on
-- webhook_deliveries once it is split by month, where the two are not unique: postrider partition asks for it.
SELECT 1;
