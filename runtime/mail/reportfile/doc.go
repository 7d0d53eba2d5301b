// Package reportfile opens the files in which receivers send reports: plain, compressed with gzip, or alone in a zip
// archive. It recognizes the format by the first bytes, not by a name or a media type.
//
// Files come from strangers. The size of a file and its size after decompression are limited, and an archive in an
// archive is refused. Each refusal has a Reason from a fixed list, so that refusals can be counted.
package reportfile
