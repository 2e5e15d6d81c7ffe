"""Which of the texts around a file names it best.

The text of the link, unless it says no more than "Download" or "PDF"; then the rest of the row or list item
that holds the link, the heading above it, the title of the page, and the title that the file itself states.
Each of them is skipped where it names nothing either.

A link whose text is the name of a file tells it from its neighbours and says little else. Then the first of
the other texts comes before it.
"""

from __future__ import annotations

import re

from coati.model import CELL_MARK

# A longer row is a whole page that a table lays out.
_MAX_ROW_CHARS = 200

_WORD = re.compile(r"[^\W_]+")
# One word with dots, the last part of which is a format.
_FILE_NAME = re.compile(r"[^\s/]+\.[A-Za-z][A-Za-z0-9]{1,7}")
_EMPTY_BRACKETS = re.compile(r"\(\s*\)|\[\s*\]")
# In English, French, German, Spanish, Italian, Portuguese, Dutch, Polish, Czech, the Nordic languages,
# Hungarian, Romanian, Turkish, Greek, Russian, Ukrainian, Bulgarian, Arabic, Hebrew, Chinese, Japanese and
# Korean; then formats and sizes.
_GENERIC_WORDS = """
download downloads downloading here click this link file files document documents attachment attachments
open view read see more get save show details full text version data dataset table report as in for the to a
preview explore resource resources information info go
télécharger téléchargement telecharger ici cliquez fichier fichiers lire voir suite plus lien pièce jointe
le la les en au du de des aperçu explorer ressource
herunterladen hier klicken datei dateien ansehen anzeigen öffnen mehr weiter zum zur als der die das link
vorschau ressource
descargar descarga aquí aqui haga clic archivo archivos fichero ver más abrir el
previsualizar explorar recurso información
scarica scaricare qui clicca apri vedi leggi di il anteprima esplora risorsa
baixar transferir clique ficheiro arquivo arquivos abrir mais o
pré visualizar visualização informação
downloaden bekijken bestand bestanden klik meer lees het
pobierz tutaj kliknij plik pliki otwórz więcej zobacz
stáhnout zde soubor soubory zobrazit více otevřít
ladda ner här fil visa öppna mer last ned her hent åpne vis lataa tästä tiedosto avaa näytä
letöltés itt fájl megnyitás descarcă aici fișier indir buradan dosya
λήψη εδώ αρχείο κατεβάστε скачать здесь тут файл открыть подробнее завантажити файл відкрити изтегли тук
تحميل تنزيل هنا ملف הורדה כאן קובץ
pdf csv tsv xls xlsx xlsm ods odt odp doc docx ppt pptx rtf txt json geojson jsonld xml rdf ttl zip gz tar rar
html htm excel word powerpoint shp kml kmz gpkg parquet sav dta spss stata sdmx netcdf nc jpg png epub
b kb mb gb tb kib mib gib ko mo go octets bytes byte untitled document1 microsoft
下载 下載 点击下载 點擊下載 附件 查看 更多 ここ こちら ダウンロード 다운로드 여기 바로가기
"""
_GENERIC = frozenset(_GENERIC_WORDS.split())


def is_generic(text: str) -> bool:
    """Tell whether a text says only what kind of thing there is, or what to do with it.

    >>> is_generic("Télécharger (PDF, 1,2 Mo)"), is_generic("GDP by region"), is_generic("2020")
    (True, False, False)
    """
    words = _WORD.findall(text.casefold())
    named = [word for word in words if not word.isdecimal()]
    if not named:
        # A year names a file among its neighbours; signs alone name nothing.
        return not words
    return all(word in _GENERIC for word in named)


def best_title(anchor: str, row: str, heading: str, page_title: str, own_title: str) -> str:
    """Choose the text that names a file; the link's own where none does.

    >>> best_title("Download", "Unemployment, 2020 | CSV | Download", "Tables", "Office of statistics", "")
    'Unemployment, 2020'
    >>> best_title("PDF", "", "Annual report", "", "")
    'Annual report'
    >>> best_title("tab-7.csv", "tab-7.csv | 3 kB", "Downloads", "Job seekers", "")
    'Job seekers (tab-7.csv)'
    """
    is_name = _FILE_NAME.fullmatch(anchor) is not None
    if not is_name and not is_generic(anchor):
        return anchor
    for candidate in (_rest_of(row, anchor), heading, page_title, own_title):
        if not is_generic(candidate) and _FILE_NAME.fullmatch(candidate) is None:
            return f"{candidate} ({anchor})" if is_name else candidate
    return anchor


def _rest_of(row: str, anchor: str) -> str:
    if len(row) > _MAX_ROW_CHARS:
        return ""
    cells = [cell for cell in row.split(CELL_MARK) if not is_generic(cell)]
    text = ", ".join(cells)
    if anchor:
        text = _EMPTY_BRACKETS.sub("", text.replace(anchor, " ", 1))
    return " ".join(text.split()).strip(" :,-–|·")
