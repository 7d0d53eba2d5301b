-- expand
-- Pages of deliveries and their attempts keep room for the row versions that outcomes write. Such an update changes no
-- index. An outcome doubles the size of an attempt. New months take the setting from the last part of the table.
DO $$
DECLARE
	part record;
BEGIN
	FOR part IN
		SELECT t.room, c.oid::regclass AS relation
		FROM (VALUES ('webhook_deliveries', 60), ('webhook_attempts', 45)) AS t (name, room)
		JOIN pg_class c ON c.relkind = 'r' AND (c.oid = to_regclass(quote_ident(t.name))
			OR c.oid IN (SELECT relid FROM pg_partition_tree(to_regclass(quote_ident(t.name))) WHERE isleaf))
		ORDER BY 2
	LOOP
		EXECUTE format('ALTER TABLE %s SET (fillfactor = %s, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000)',
			part.relation, part.room);
	END LOOP;
END $$;
