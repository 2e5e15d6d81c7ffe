"""An ordinary Scrapy project that lets a Coati strategy choose its links."""
