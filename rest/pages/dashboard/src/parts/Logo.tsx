// Logo is the mark of the sign-in pages and the browser tab.
export const Logo = () => <img src="/favicon.svg" alt="" width="28" height="28" className="size-7 flex-none" />
