package db

// Texts is Array in the form of the hot pool.
func Texts(list []string) []byte { return binaryArray(list, textType) }

// Blobs is Array in the form of the hot pool.
func Blobs(list [][]byte) []byte { return binaryArray(list, byteaType) }
