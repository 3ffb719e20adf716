"""What the sentence splitters know of languages: abbreviations, and English words that often begin a sentence.

Everything is in lower case and without the last period. Dotted letters ("u.s", "z.b") and single letters need no entry:
the splitters know them by their shape.
"""


def _words(listing: str) -> frozenset[str]:
    return frozenset(listing.split())


ENGLISH = _words(
    """
    mr mrs ms mx messrs mmes dr drs prof profs rev revd fr hon pres gov sen sens rep reps supt asst assoc atty
    gen lt maj capt cpt col sgt cpl pvt cmdr comdr adm brig insp
    jr sr esq ph.d m.sc b.sc ll.b ll.d m.phil d.phil
    st ste mt mts ft pt ave blvd rd hwy sq
    jan feb apr jun jul aug sept sep oct nov dec mon tue tues wed thu thur thurs fri
    inc ltd co corp bros plc llc dept univ inst intl natl assn dist div
    vs etc al cf viz ibid approx ca circa incl excl esp resp misc avg est
    ed eds transl repr illus
    ala ariz ark calif colo conn fla ga kan ky md mich minn mont neb nev okla ont penn que
    tenn tex va vt wis wyo
    """
)

# Words of their own that are abbreviations only before a number: "no. 5", "art. 2", "mar. 3".
ENGLISH_BEFORE_NUMBERS = _words("no nos art arts fig figs sec secs ch chs par para vol vols p pp bk eq mar c v")

# After an abbreviation or an initial these, when capitalised, begin a new sentence: "in the U.S. The law".
ENGLISH_STARTERS = _words(
    """
    the this that these those there here he she it we they you his her its their our my your
    an some many most all both each every several such another other others
    and but or so yet nor if when while although though because since until unless as after before during once whereas
    in on at by for from with without under over between among through about against into within upon despite like
    what why how who whose where which then thus therefore hence however moreover furthermore also still now today
    later earlier first second finally meanwhile instead indeed perhaps not only even just to
    is are was were has have had do does did can could would should must
    """
)

# Abbreviations that are followed by a capital letter or a number inside a sentence.
OTHERS = {
    "de": _words(
        """
        abb abs abt allg art bd bde betr bspw bzgl bzw ca dez dipl-ing dr evtl exkl feb fr frl geb gem gest ggf hl hr
        hrsg ing inkl jan jh kap lt max mio min mr mrd mrs nr nov okt phil prof rd red sept sog st std str tel usw vgl
        vs zt
        """
    ),
    "es": _words(
        """
        art arts av avda cap cía dep depto dra dras dr dres ed ej etc fig gral ing lic núm nº pág págs prof profa sr
        sra sras sres srta sta sto tel ud uds vol
        """
    ),
    "fr": _words(
        "art av bd boul cf chap dr éd env etc ex fig hab me mgr mlle mlles mm mme mmes no prof st ste tél vol"
    ),
    "it": _words(
        "art avv cap cfr dott dr ecc ed es fig geom gen ing mons on pag pagg prof proff rag sen sig sigg tel vol"
    ),
    "nl": _words(
        "afb art bijv blz ca dhr dr drs enz evt excl fig incl ing ir jhr jl mevr mr mw nl nr prof resp st tel vgl vs"
    ),
    "pt": _words(
        "art av cap cf dr dra dras drs ed etc ex exa fig gen núm nº pág págs prof profa sr sra sras srs sta sto tel vol"
    ),
    "ru": _words(
        """
        акад англ вв гг гл гр доц др им ил кв кн коп лат лит млн млрд напр нем обл оз пер пл пос пр проф руб рис род рр
        св см соч ср ст стр тел тт тыс ул фр чл шт экз
        """
    ),
}
