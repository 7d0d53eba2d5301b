// Prints the first curl sample of the API reference, exactly as a reader would copy it.
const page = await (await fetch(`${process.env.POSTRIDER_API_URL}/docs`)).text()
const code = /class="block sample" data-lang="curl">.*?<code>(.*?)<\/code>/s.exec(page)?.[1]
if (!code) throw new Error('the page has no sample in curl')
console.log(code.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&#34;', '"').replaceAll('&#39;', "'").replaceAll('&#43;', '+').replaceAll('&amp;', '&'))
