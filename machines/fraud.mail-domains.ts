// The domain by which the fraud guard counts a mailbox. In: a mailbox. Out: its domain without subdomains, and whether it is one of a large
// mailbox provider, where anyone has an address. Pure.

/** In the order of countries, roughly. Only domains at which strangers get mailboxes, and honest users have most of theirs. */
const LARGE_PROVIDERS: ReadonlySet<string> = new Set(
  [
    'gmail.com googlemail.com outlook.com hotmail.com live.com msn.com yahoo.com ymail.com rocketmail.com icloud.com me.com mac.com',
    'aol.com proton.me protonmail.com pm.me zoho.com fastmail.com hey.com mail.com duck.com tutanota.com gmx.com gmx.net',
    'hotmail.co.uk live.co.uk outlook.co.uk yahoo.co.uk btinternet.com sky.com virginmedia.com ntlworld.com talktalk.net',
    'comcast.net verizon.net att.net sbcglobal.net bellsouth.net cox.net charter.net optonline.net rogers.com shaw.ca sympatico.ca yahoo.ca hotmail.ca live.ca',
    'gmx.de gmx.at gmx.ch web.de t-online.de freenet.de arcor.de mail.de posteo.de hotmail.de live.de outlook.de yahoo.de bluewin.ch',
    'orange.fr wanadoo.fr free.fr sfr.fr laposte.net neuf.fr hotmail.fr live.fr outlook.fr yahoo.fr skynet.be telenet.be hotmail.be',
    'libero.it virgilio.it alice.it tiscali.it tin.it hotmail.it live.it outlook.it yahoo.it',
    'hotmail.es outlook.es yahoo.es telefonica.net sapo.pt outlook.pt hotmail.nl live.nl outlook.nl ziggo.nl kpnmail.nl planet.nl',
    'hotmail.se live.se telia.com outlook.dk live.dk online.no live.no hotmail.no',
    'wp.pl o2.pl interia.pl onet.pl op.pl gazeta.pl seznam.cz email.cz centrum.cz freemail.hu citromail.hu abv.bg yahoo.ro',
    'mail.ru bk.ru list.ru inbox.ru internet.ru yandex.ru ya.ru yandex.com rambler.ru ukr.net i.ua meta.ua',
    'uol.com.br bol.com.br terra.com.br ig.com.br globo.com hotmail.com.br outlook.com.br yahoo.com.br yahoo.com.mx hotmail.com.mx live.com.mx yahoo.com.ar hotmail.com.ar',
    'qq.com foxmail.com 163.com 126.com yeah.net sina.com sina.cn sohu.com aliyun.com 139.com 189.cn',
    'naver.com daum.net hanmail.net kakao.com nate.com docomo.ne.jp ezweb.ne.jp softbank.ne.jp i.softbank.jp au.com yahoo.co.jp outlook.jp',
    'rediffmail.com yahoo.co.in yahoo.in outlook.in yahoo.co.id yahoo.com.ph yahoo.com.vn yahoo.com.sg yahoo.com.tw yahoo.com.hk pchome.com.tw',
    'bigpond.com optusnet.com.au yahoo.com.au hotmail.com.au outlook.com.au live.com.au xtra.co.nz walla.co.il mweb.co.za',
  ].flatMap(line => line.split(' ')),
)

/** Under these of a country, names are registered one level lower. */
const SECOND_LEVELS: ReadonlySet<string> = new Set(
  'ac co com edu go gob gov gv ind mil ne net nom or org sch'.split(' '),
)

/** Without subdomains: who owns a domain has as many of them as they like. Close to the list of public suffixes, which is long. */
export function mailDomainOf(mailbox: string): string {
  const labels = mailbox.slice(mailbox.lastIndexOf('@') + 1).split('.')
  const [second = '', top = ''] = labels.slice(-2)
  return labels.slice(top.length === 2 && SECOND_LEVELS.has(second) ? -3 : -2).join('.')
}

export const isLargeProvider = (mailDomain: string): boolean => LARGE_PROVIDERS.has(mailDomain)
