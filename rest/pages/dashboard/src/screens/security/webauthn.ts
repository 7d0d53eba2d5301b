// The browser's part of passkeys: options and responses are JSON.

export const passkeysWork = typeof PublicKeyCredential !== 'undefined' && 'parseCreationOptionsFromJSON' in PublicKeyCredential

interface Options {
  publicKey: PublicKeyCredentialCreationOptionsJSON
}

// makePasskey asks the device for a passkey. It returns undefined if the user cancels.
export async function makePasskey(options: object): Promise<Record<string, unknown> | undefined> {
  try {
    const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON((options as Options).publicKey)
    const made = (await navigator.credentials.create({ publicKey })) as PublicKeyCredential | null
    return made ? ({ ...made.toJSON() } as Record<string, unknown>) : undefined
  } catch (error) {
    if (error instanceof DOMException && (error.name === 'NotAllowedError' || error.name === 'AbortError')) return undefined
    if (error instanceof DOMException && error.name === 'InvalidStateError') throw new Error('This device already has a passkey for you.')
    throw error
  }
}
