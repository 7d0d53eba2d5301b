// Package bimi checks the files that a BIMI record refers to: the logo, an SVG image, and its mark certificate.
//
// Mailbox providers show a logo only if all conditions are met, and do not report which one failed. Each condition is
// a finding with a stable code, its state, and a fix.
//
// # Rules
//
// Both files come from servers of strangers. They are fetched with the client of package egress, which refuses
// private addresses and follows no redirects. At most 32 KiB of a logo and 256 KiB of a certificate file are read, and
// a compressed logo is decompressed up to the same limit. XML with a document type that declares entities, or with too
// many nested elements, is refused. Texts from the files appear in findings clipped and quoted.
//
// The logo must comply with SVG Tiny PS (draft-svg-tiny-ps-abrotman). The certificate must name the domain or its
// organizational domain, be meant for brand indicators, be valid, and contain the same logo (RFC 3709). Its issuers are
// checked among the certificates in the file. Whether a mailbox provider trusts the root, and whether the certificate
// was revoked, are not checked.
package bimi
