// Package jetstream hands facts to a stream of NATS JetStream, through Watermill's
// publisher.
//
// A fact goes to the subject <prefix>.<account>.<type> under its id as the message id, and
// counts as handed over when the server has acknowledged it. Facts of one account are
// published one after the other, each after the acknowledgement of the one before, so that
// neither a failure nor a change of leaders turns their order round; accounts go side by side.
//
// The stream drops a message whose id it had within the last ten minutes. For what was
// published without an answer longer ago than that there is Stored, which looks at the end of
// the stream.
//
// What waits in a connection that has broken is not kept for the next one: it would arrive
// at any later time, from a process that may not be the one any more that publishes.
package jetstream
