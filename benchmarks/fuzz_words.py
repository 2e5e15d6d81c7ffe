"""The words that inputs for the fuzzer are made of, by format."""

# fmt: off

HTML = (
    b"<a href=", b"'", b'"', b">", b"<", b"</a>", b"<b>", b"<p>", b"<div class='x y' id=z>", b"</div>",
    b"<table>", b"<tr>", b"<td>", b"<base href=", b"<meta http-equiv=refresh content='0;url=", b"<!--",
    b"-->", b"<![CDATA[", b"<script>", b"</script>", b"<svg>", b"<template>", b"<select>", b"<option>",
    b"<frameset>", b"<frame src=", b"<iframe src=", b"<title>", b"<h2>", b"<li>", b"<dt>", b"&amp;",
    b"&#x110000;", b"&#0;", b"\x00", b"\xff", b"\xc3", b"http://", b"//example.org", b"?a=b", b"#", b"\n",
    b" ", b"<meta charset=", b"utf-16", b"<a href='x'>y</a>", b"itemscope ", b"itemprop=name ",
    b"itemtype='https://schema.org/Dataset' ", b"property='dc:title' ", b"typeof=x ", b"vocab=y ",
    b"class='h-card vcard' ", b"<script type='application/ld+json'>", b'{"@type":"Dataset","url":"',
    b"[[[[", b"{{{{", b"itemref=z ",
)

XML = (
    b"<?xml version='1.0' encoding='utf-8'?>", b"<urlset>", b"</urlset>", b"<sitemapindex>", b"<url>",
    b"</url>", b"<loc>", b"</loc>", b"<lastmod>", b"2024-01-01T00:00:00Z", b"<rss>", b"<channel>",
    b"<item>", b"<link>", b"<guid>", b"<feed>", b"<entry>", b"<link href='", b"'/>", b"<enclosure url='",
    b"<![CDATA[", b"]]>", b"<!DOCTYPE x [", b"<!ENTITY a '", b"&a;", b"http://example.org/a", b"<", b">",
    b"&lt;", b"&#99999999;", b"\x1f\x8b", b"\xff\xfe", b"<sitemap>", b"\n", b"x",
)

TEXT = (
    b"User-agent: *", b"\n", b"\r", b"Disallow: /", b"Allow: ", b"*", b"$", b"Sitemap: ",
    b"http://example.org/s.xml", b"#", b":", b"Crawl-delay: ", b"1e999", b"nan", b"%", b"%2f", b" ", b"\t",
    b"\xef\xbb\xbf", b"\x00", b"a", b"/", b"-1", b"Request-rate: ",
)

HEADER = (
    b"text/html", b"; charset=", b"utf-8", b'"', b"'", b"\\", b"=", b";", b",", b"attachment", b"filename=",
    b"filename*=", b"UTF-8''", b"%c3%a9", b"%", b"../", b"/", b"..", b"\x00", b"\n", b" ", b"nofollow",
    b"coati:", b"unavailable_after", b"Mon, 01 Jan 2024 00:00:00 GMT", b"99999999999999999999", b"-1",
    b"gzip", b"=?utf-8?b?", b"?=", b"CON", b".csv", b"\xff", b"a", b"http://[::1", b":99999",
)

ANSWER = (
    b"HTTP/1.1 200 OK\r\n", b"HTTP/1.1 204\r\n", b"HTTP/1.0 999 x\r\n", b"Content-Length: ", b"5", b"-1",
    b"\r\n", b"\n", b"\r", b"Transfer-Encoding: chunked\r\n", b"Content-Encoding: gzip\r\n",
    b"Content-Type: text/html\r\n", b"5\r\nhello\r\n", b"0\r\n\r\n", b"ffffffffffffffff\r\n", b";ext",
    b": ", b"X: y\r\n", b"Connection: upgrade\r\n", b"Upgrade: x\r\n", b"\x00", b"\xff", b" ",
    b"HTTP/1.1 100 Continue\r\n\r\n", b"HTTP/1.1 101 x\r\n", b"Set-Cookie: a=b\r\n", b"a",
)

BINARY = (
    b"\x1f\x8b\x08\x00", b"PK\x03\x04", b"PK\x01\x02", b"PK\x05\x06", b"\x00\x00\x00\x00",
    b"\xff\xff\xff\xff", b"(\xb5/\xfd", b"x\x9c", b"WARC/1.0\r\n", b"WARC-Type: response\r\n",
    b"Content-Length: ", b"99", b"WARC-Target-URI: http://example.org/\r\n", b"\r\n", b"\r\n\r\n",
    b"HTTP/1.1 200 OK\r\n", b"docProps/core.xml", b"meta.xml", b"datapackage.json", b"archive/a.warc.gz",
    b"%PDF-1.4", b"/Title (", b")", b"xref", b"<dc:title>", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1",
    b"\x1aE\xdf\xa3", b"ftypmp41", b"RIFF", b"a",
)

HITS = (
    b'{"hits":[', b'{"url":"', b'"', b"]", b"}", b",", b":", b"http://e.org/", b"[", b"1", b"\\u0000",
    b"more",
)

API = (
    b"{", b"}", b"[", b"]", b",", b":", b"null", b"true", b"1", b"-1", b"1e999", b'"', b'""', b'"x"', b"[[[[",
    b'"result":', b'"results":', b'"resources":', b'"url":', b'"count":', b'"total":', b'"data":',
    b'"items":',
    b'"dataset":', b'"distribution":', b'"downloadURL":', b'"title":', b'"name":', b'"files":', b'"entries":',
    b'"links":', b'"next":', b'"hits":', b'"_embedded":', b'"attributes":', b'"http://example.org/a.csv"',
    b'"@type":', b'"Dataset"', b'"value":', b'"d":', b'"query":', b"<OAI-PMH>", b"<record>",
    b"<dc:identifier>",
    b"<resumptionToken>", b"<csw:GetRecordsResponse", b"<gmd:URL>", b"</", b">", b"<rdf:RDF>",
    b"<dcat:Dataset>",
)

URLS = (
    b"http://", b"https:", b"//", b"/", b"\\", b"@", b":", b"?", b"#", b"%", b"%2e", b"..", b".", b"[",
    b"]", b"xn--", b"\xc3\xbc", b"a", b"\n", b" ", b"0x7f.1", b"localhost", b"&", b"=",
)

CHARSET = (
    *HEADER, *HTML[:12],
    b"<meta charset=", b"<?xml encoding='", b"\xfe\xff", b"\x81", b"\x1b$B",
)
# fmt: on
