-- Owner: devinbox. Written by hand: not part of the Ent schema.

-- What follows the first mebibyte of a captured mail, in pieces: no statement and
-- no parameter is ever as large as a mail may be.
CREATE TABLE "captured_parts" (
  "mail_id" bigint NOT NULL REFERENCES "captured_mails" ("id") ON DELETE CASCADE,
  "position" integer NOT NULL,
  "data" bytea NOT NULL,
  PRIMARY KEY ("mail_id", "position")
);
-- Attachments are base64: to try to compress them is in vain.
ALTER TABLE "captured_parts" ALTER COLUMN "data" SET STORAGE EXTERNAL;
