// Takes the token out of the fragment of a link and puts it into the form, so that it stays in no
// history, and shows the fields that are needed then.
const form = document.querySelector('form[data-page]')
const token = document.getElementById('token')
if (form && token) {
  const given = location.hash.slice(1)
  if (given) {
    token.value = given
    history.replaceState(null, '', location.pathname + location.search)
  }
  const page = form.dataset.page
  const show = (name, yes) => {
    const field = form.querySelector(`[data-field="${name}"]`)
    if (!field) return
    field.hidden = !yes
    for (const input of field.querySelectorAll('input')) input.disabled = !yes
  }
  const byLink = token.value !== ''
  const box = token.closest('.token')
  if (box && byLink) box.hidden = true
  if (page === '/sign-up' || page === '/reset') {
    show('email', !byLink)
    for (const name of ['name', 'account_name', 'password']) show(name, byLink)
  }
  if (page === '/sign-in' && byLink) {
    for (const name of ['email', 'password', 'code']) show(name, false)
    if (given) form.requestSubmit()
  }
  // Most users have no code, so its field appears on request, and after a failed sign-in.
  const code = form.querySelector('[data-field="code"]')
  if (page === '/sign-in' && !byLink && code && !document.querySelector('.note.bad:not([hidden])')) {
    show('code', false)
    const button = document.createElement('button')
    button.type = 'button'
    button.className = 'plain'
    button.textContent = 'Enter an authenticator code'
    button.addEventListener('click', () => {
      button.remove()
      show('code', true)
      code.querySelector('input').focus()
    })
    code.after(button)
  }
}

// Passkeys: one signs in, and who is signed in adds one. The buttons are shown where the browser can.
const post = async (path, body) => {
  const answer = await fetch(path, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: body && JSON.stringify(body) })
  const read = await answer.json()
  if (answer.ok) return read
  throw new Error(read.error?.code === 'confirmation_required' ? 'Sign out and in again first. This requires a sign-in within the last ten minutes.'
    : answer.status === 401 ? 'Unknown passkey.' : read.error?.message ?? 'Something went wrong. Try again in a moment.')
}
const offer = (button, told, ask) => {
  if (!button || !window.PublicKeyCredential?.parseRequestOptionsFromJSON || token?.value) return
  button.hidden = false
  button.addEventListener('click', async () => {
    button.disabled = true
    told.hidden = true
    let text
    try {
      text = await ask()
    } catch (error) {
      text = error.name === 'NotAllowedError' ? 'No passkey was used.' : error.name === 'InvalidStateError' ? 'This device already has a passkey.' : error.message
    }
    told.textContent = text ?? ''
    told.hidden = !text
    button.disabled = false
  })
}
const signIn = async choice => {
  const { options, challenge_id } = await post('/api/session/passkey/options')
  const credential = await navigator.credentials.get({ publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(options.publicKey), ...choice })
  await post('/api/session/passkey', { challenge_id, credential: credential.toJSON() })
  location.assign(form?.elements.next?.value ?? '/')
}
// The browser also offers passkeys in the email field. The button ends that offer, because only one can be open.
const autofill = new AbortController()
const passkey = document.getElementById('passkey')
offer(passkey, document.getElementById('passkey-wrong'), () => {
  autofill.abort()
  return signIn({})
})
if (passkey && !passkey.hidden) {
  window.PublicKeyCredential.isConditionalMediationAvailable?.()
    .then(can => can && signIn({ mediation: 'conditional', signal: autofill.signal }))
    .catch(() => undefined) // the button still works, and shows errors
}
offer(document.getElementById('new-passkey'), document.getElementById('passkey-told'), async () => {
  const { options, challenge_id } = await post('/api/user/passkeys/options')
  const credential = await navigator.credentials.create({ publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(options.publicKey) })
  await post('/api/user/passkeys', { challenge_id, credential: credential.toJSON(), name: navigator.userAgentData?.platform ?? '' })
  return 'Added. You can now sign in with it instead of a password.'
})
