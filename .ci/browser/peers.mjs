// Outside parties with scripted responses: a mail server that refuses mail as configured and stores what it accepts, a
// client that delivers mail, and a web server.
import { once } from 'node:events'
import { createServer as createHTTP } from 'node:http'
import { connect, createServer } from 'node:net'
import { createInterface } from 'node:readline'

// mailServer listens at `at`. words returns the reply to a recipient, or nothing to accept it.
export async function mailServer(at, words) {
  const taken = new Map() // messages by recipient
  const [host, port] = at.split(':')
  const server = createServer(socket => {
    const say = text => socket.write(text + '\r\n')
    let to = '', data = null
    socket.on('error', () => {})
    say('220 hostile.test ESMTP')
    createInterface({ input: socket }).on('line', text => {
      if (data) {
        if (text !== '.') return data.push(text)
        taken.set(to, data.join('\n'))
        data = null
        return say('250 2.0.0 taken')
      }
      const verb = text.slice(0, 4).toUpperCase()
      if (verb === 'RCPT') {
        to = /<(.*?)>/.exec(text)[1]
        return say(words(to) ?? '250 2.1.5 ok')
      }
      if (verb === 'DATA') {
        data = []
        return say('354 go on')
      }
      if (verb === 'QUIT') return socket.end('221 2.0.0 bye\r\n')
      say(verb === 'EHLO' ? '250 hostile.test' : '250 2.0.0 ok')
    })
  })
  server.listen(Number(port), host)
  await once(server, 'listening')
  server.unref()
  return taken
}

// bring delivers messages over one connection, like another mail server.
export async function bring(to, recipient, messages) {
  const [host, port] = to.split(':')
  const socket = connect(Number(port), host)
  const lines = createInterface({ input: socket })[Symbol.asyncIterator]()
  const expect = async code => {
    for (;;) {
      const { value = '' } = await lines.next()
      if (!value.startsWith(code)) throw new Error(`the service says ${value}, want ${code}`)
      if (value[3] !== '-') return
    }
  }
  const say = (text, code) => { socket.write(text + '\r\n'); return expect(code) }
  await expect('220')
  await say('EHLO stranger.test', '250')
  for (const message of messages) {
    await say('MAIL FROM:<stranger@example.net>', '250')
    await say(`RCPT TO:<${recipient}>`, '250')
    await say('DATA', '354')
    await say(message.replace(/\r?\n/g, '\r\n').replace(/^\./gm, '..') + '\r\n.', '250')
  }
  socket.end('QUIT\r\n')
}

// website responds to all requests, and returns its port and the requests.
export async function website(answerTo) {
  const asked = []
  const server = createHTTP((request, answer) => {
    asked.push(`${request.method} ${request.url}`)
    request.resume()
    answerTo(answer)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  server.unref()
  return { port: server.address().port, asked }
}
