// Package jetstream publishes facts to a stream of NATS JetStream, through Watermill's publisher.
//
// A fact is published to the subject <prefix>.<account>.<type> with its id as the message id, and is complete
// when the server has acknowledged it. Facts of one account are published sequentially, each after the
// acknowledgement of the previous one, so that neither a failure nor a change of leader reorders them.
// Accounts are published concurrently.
//
// The stream drops a message whose id it received within the last ten minutes. For messages published earlier
// without an acknowledgement, StoredIDs reads the end of the stream.
//
// Messages pending in a broken connection are discarded: otherwise they could arrive much later, from a
// process that no longer publishes.
package jetstream
