// Delivers one email with a file to support@dev.test over SMTP, like another mail server.
import { connect } from 'node:net'
import { createInterface } from 'node:readline'

const at = process.argv[2].lastIndexOf(':')
const socket = connect(Number(process.argv[2].slice(at + 1)), process.argv[2].slice(0, at))
const words = [
  'EHLO client.example', 'MAIL FROM:<bob@example.net>', 'RCPT TO:<support@dev.test>', 'DATA',
  'From: Bob <bob@example.net>\r\nTo: support@dev.test\r\nSubject: A question\r\nMessage-ID: <1@example.net>\r\nMIME-Version: 1.0\r\n'
    + 'Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n\r\nHow much?\r\n--b\r\nContent-Type: text/csv; name=order.csv\r\n'
    + 'Content-Disposition: attachment; filename=order.csv\r\n\r\nitem,price\r\n--b--\r\n.', 'QUIT',
]
for await (const line of createInterface({ input: socket })) {
  if (line[3] === '-') continue
  if (!/^[23]/.test(line)) throw new Error(`the server said ${line}`)
  const word = words.shift()
  if (word) socket.write(`${word}\r\n`)
}
